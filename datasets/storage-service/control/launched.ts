/** What the recorder handed this process on its command line (JSON, the first argument). */
export function launched<Launch>(): Launch {
  const text = process.argv[2]
  if (text === undefined) {
    throw new Error('This process is started by the recorder: run `npm run record -- <case>`.')
  }
  return JSON.parse(text) as Launch
}
