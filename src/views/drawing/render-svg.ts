export { renderSvg } from './render-still.tsx'
