import { FlowdeltaError } from '../../core/errors.ts'

// Stands in for stores where the library is bundled for browsers.
throw new FlowdeltaError(
  'Stores are read, and traces saved, under Node alone. In a page, load files by their address or content.',
)
