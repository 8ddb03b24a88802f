export { type DraggedRange, useDragRange } from './controls.tsx'
