/** A notebook's place in the book. */
export interface Chapter {
  name: string
  title: string
  question: string
  minutes: number
  picture: string | undefined
}

/** Reads what a notebook asks, how long it takes, and its first picture. */
export function readChapter(path: string): Chapter

/** The book as Markdown. */
export function contents(chapters: readonly Chapter[]): string
