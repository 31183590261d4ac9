/** Resources of a process: descriptors, files, memory and connections. */
import { readdir, readlink } from 'node:fs/promises'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { int, statement } from '../../src/db/sql.ts'
import { residentMemory } from './memory.ts'

export interface Holdings {
  /** Number of open sockets, files and other descriptors. */
  descriptors: number
  /** Files below the folder that are open or exist. */
  files: string[]
  /** Memory in MiB. */
  memory: number
  /** Number of database connections of all clients. */
  connections: number
}

const countConnections = statement(
  'proof_connections',
  { columns: { count: int } },
  `select count(*)::int as count from pg_stat_activity where datname = current_database()`,
)

/** Reads the resources of the process `pid`, and the files below `folder`. */
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
