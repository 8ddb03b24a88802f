export { fittedText } from './text.ts'
