export { isSelectingText } from './controls.tsx'
