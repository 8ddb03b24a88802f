export { textWidth } from '../drawing/text.ts'
