/** Opens pages in Chromium without network; gives why that was skipped, if it was. */
export function checkInBrowser(files: readonly string[]): Promise<string | undefined>

/** The path of a Chromium, which is installed where that is possible. */
export function findBrowser(): Promise<string | undefined>
