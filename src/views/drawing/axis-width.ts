import { type MutableRef, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** How wide an element is, and again whenever that changes: drawings keep their letters' size. */
export function useWidth<T extends HTMLElement>(
  atFirst: number,
): readonly [place: MutableRef<T | null>, width: number] {
  const place = useRef<T | null>(null)
  const [width, setWidth] = useState(atFirst)
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    const measure = () => {
      if (element.clientWidth > 0) setWidth(element.clientWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [place, width]
}
