export { StateCode } from './controls.tsx'
