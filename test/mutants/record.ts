/** What became of mutants, in a file of JSON lines: a run that was broken off goes on where it stopped. */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'

export interface Result {
  outcome: 'noticed' | 'hangs' | 'not noticed'
  /** The test that failed first, and what it said. */
  by?: string | undefined
  seconds: number
}

interface Line extends Result {
  id: string
  /** SHA-256 of the mutant, the file it changes and the tests it names. What else changes is not looked at. */
  of: string
}

/** Results by mutant, kept in `file` where one is given. Lines of what has changed since do not count. */
export class MutantRecord {
  readonly #root: string
  readonly #file: string | undefined
  readonly #lines: Map<string, Line>
  /** By id, of the files as they were at the first look: those that are tried are copied then. */
  readonly #hashes = new Map<string, string>()

  constructor(root: string, file: string | undefined) {
    const text = file && existsSync(file) ? readFileSync(file, 'utf8') : ''
    const lines = text.split('\n').filter(Boolean)
    this.#root = root
    this.#file = file
    this.#lines = new Map(lines.map((line) => JSON.parse(line) as Line).map((line) => [line.of, line]))
  }

  find(mutant: Mutant): Result | undefined {
    return this.#lines.get(this.#hash(mutant))
  }

  add(mutant: Mutant, result: Result) {
    const line: Line = { id: mutant.id, of: this.#hash(mutant), ...result }
    this.#lines.set(line.of, line)
    if (this.#file) appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }

  #hash(mutant: Mutant): string {
    const hash = this.#hashes.get(mutant.id) ?? this.#hashNow(mutant)
    this.#hashes.set(mutant.id, hash)
    return hash
  }

  #hashNow({ id, file, find, replace, tests }: Mutant): string {
    const read = (path: string) => readFileSync(join(this.#root, path), 'utf8')
    const texts = [file, ...tests.map((test) => join('test', test))].map(read)
    return createHash('sha256')
      .update(JSON.stringify([id, file, find, replace, tests, texts]))
      .digest('hex')
  }
}
