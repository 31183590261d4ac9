/**
 * Statements with a name. A connection keeps each with its plans until it is told to close it: some 60 bytes for each character, at every
 * connection. What is read is chosen by whoever asks, so there is a bound, and what was not asked for longest is closed.
 */
import { LRUCache } from 'lru-cache'
import type { ClientBase, Connection, Pool, PoolClient, Submittable } from 'pg'

const MOST_NAMES = 500
/** Characters of all together: 18 MB or so at each connection. */
const MOST_CHARACTERS = 300_000

/** What the types leave out: the texts that a connection keeps, by their names. */
type Wire = Connection & { parsedStatements: Record<string, string> }

const wireOf = (client: ClientBase) => (client as unknown as { connection: Wire }).connection

/** Has a connection close statements. It is in a line with what is asked there next, which may be one of them. */
class Closing implements Submittable {
  readonly #names: readonly string[]

  constructor(names: readonly string[]) {
    this.#names = names
  }

  submit(connection: Connection) {
    const wire = connection as Wire
    for (const name of this.#names) {
      delete wire.parsedStatements[name]
      wire.close({ type: 'S', name }, true)
    }
    wire.sync()
  }

  /** The driver tells everybody in the line how it went. Closing does not fail, and who asks next hears of a connection that is lost. */
  handleReadyForQuery() {}
  handleError() {}
}

/** Names of reads, and of the same for many at once. A pool has other statements, which stay. */
const OURS = /^read_[\w-]{22}(?:_many)?$/

/** Returns what names a statement that is asked now; undefined for one that goes without. */
export function createStatementNames(pool: Pool): (asked: { name: string; text: string }) => string | undefined {
  /** How many were given up so far, and how many were when a connection was last looked at. */
  let forgotten = 0
  const seen = new WeakMap<PoolClient, number>()
  const kept = new LRUCache<string, string>({
    max: MOST_NAMES,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (text) => text.length,
    dispose: () => {
      forgotten += 1
    },
  })

  pool.on('acquire', (client) => {
    if ((seen.get(client) ?? 0) === forgotten) return
    seen.set(client, forgotten)
    const given = Object.keys(wireOf(client).parsedStatements)
    const closed = given.filter((name) => OURS.test(name) && !kept.has(name))
    if (closed.length > 0) client.query(new Closing(closed))
  })

  return ({ name, text }) => {
    if (kept.get(name) === undefined) kept.set(name, text)
    return kept.has(name) ? name : undefined
  }
}
