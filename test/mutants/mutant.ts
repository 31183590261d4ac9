/** A change of one rule, made on purpose, that a test must notice. */
export interface Mutant {
  /** `<area>.<what is broken>`; unique. */
  id: string
  /** The rule that no longer holds, as a sentence about the service. */
  breaks: string
  /** Below the repository's root. */
  file: string
  /** Stands exactly once in the file. */
  find: string
  replace: string
  /** The test files that must notice, below `test/`. */
  tests: string[]
  /** Of a mutant that no test can notice: the proof that does, or why nobody need. */
  instead?: string
}

/** Mutants of one file. `edits` are `[id, breaks, find, replace, tests]`. */
export const mutantsOf = (
  file: string,
  tests: string[],
  edits: [id: string, breaks: string, find: string, replace: string, tests?: string[]][],
): Mutant[] =>
  edits.map(([id, breaks, find, replace, own]) => ({ id, breaks, file, find, replace, tests: own ?? tests }))

/** The text with the change in it. Raises an Error when `find` does not stand in it exactly once. */
export function applyMutant({ id, file, find, replace }: Mutant, text: string): string {
  const places = text.split(find).length - 1
  if (places !== 1) throw new Error(`${id}: its line stands ${places} times in ${file}; it must stand there once.`)
  return text.replace(find, () => replace)
}
