import { describeFoldProperties } from './fold-properties.ts'

describeFoldProperties(150)
