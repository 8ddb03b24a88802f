/** Brings dist/ up to date; gives the names of the steps that ran. */
export function build(options?: { log?: (line: string) => void }): Promise<string[]>
