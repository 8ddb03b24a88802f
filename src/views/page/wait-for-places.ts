/**
 * The places of an output in the page, each given away once. Notebooks run a script before its
 * output is attached: look again for a while.
 *
 * @param mark attribute that holds the output's id
 */
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
