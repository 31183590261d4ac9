/** What a process holds on to: descriptors, files, memory, connections. */
import { readdir, readlink } from 'node:fs/promises'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { int, statement } from '../../src/db/sql.ts'
import { residentMemory } from './memory.ts'

export interface Holdings {
  /** Sockets, files and whatever else is open. */
  descriptors: number
  /** What is open below the folder, or has a name in it. */
  files: string[]
  /** MiB. */
  memory: number
  /** Connections to the database, of everybody. */
  connections: number
}

const countConnections = statement(
  'proof_connections',
  { columns: { count: int } },
  `select count(*)::int as count from pg_stat_activity where datname = current_database()`,
)

/** Of the process `pid`; of files those below `folder`. */
export async function holdingsOf(pid: number, folder: string, database?: ConnectedDatabase): Promise<Holdings> {
  const descriptors = await readdir(`/proc/${pid}/fd`)
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
  return {
    descriptors: descriptors.length,
    files: [
      ...(await readdir(folder, { recursive: true }).catch(() => [])),
      ...open.filter((path) => path.startsWith(folder)),
    ],
    memory: await residentMemory(pid),
    connections: database ? (await database.query(countConnections))[0]!.count : 0,
  }
}
