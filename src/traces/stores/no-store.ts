import { FlowdeltaError } from '../../core/errors.ts'

// Stands in for stores where the library is bundled for browsers.
throw new FlowdeltaError(
  'Only Node can read stores and save traces. In a page, load files by their address or content.',
)
