export { useWidth } from './controls.tsx'
