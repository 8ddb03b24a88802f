/** The places of an output, each given away once; looks again, as scripts may run before them. */
export async function waitForPlaces(mark: string, id: string): Promise<HTMLElement[]> {
  const selector = `[${mark}="${id}"]:not([data-flowdelta-live])`
  for (let attempt = 0; attempt < 50; attempt++) {
    const places = [...document.querySelectorAll<HTMLElement>(selector)]
    for (const place of places) place.setAttribute('data-flowdelta-live', '')
    if (places.length > 0) return places
    await new Promise((later) => setTimeout(later, 100))
  }
  return []
}
