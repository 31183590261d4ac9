/** What a request takes: of the processors, in the gateway and in PostgreSQL, and on the wall. */
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'

export interface Sample {
  /** Milliseconds of processor time. */
  gateway: number
  database: number
  /** Milliseconds. */
  wall: number
}

/** Nanoseconds that a thread ran; 0 once it has ended. */
function ranOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

/** Nanoseconds that all threads of a process ran. */
export const ranByThreads = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ranOf(`/proc/${pid}/task/${task}/schedstat`), 0)

/** Watches a gateway and its sessions with the database, which runs on this machine. */
export function createClock({ pid, client }: { pid: number; client: pg.Client }) {
  let sessions: number[] = []
  const ofSessions = () => sessions.reduce((sum, session) => sum + ranOf(`/proc/${session}/schedstat`), 0)

  return {
    /** Sessions come and go: asked for before each round. */
    async look(): Promise<void> {
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'annal'`,
      )
      sessions = rows.map(({ pid }) => pid)
    },
    async measure<T>(work: () => Promise<T>): Promise<{ answer: T; sample: Sample }> {
      const [gateway, database, wall] = [ranByThreads(pid), ofSessions(), performance.now()]
      const answer = await work()
      const took = performance.now() - wall
      return {
        answer,
        sample: { gateway: (ranByThreads(pid) - gateway) / 1e6, database: (ofSessions() - database) / 1e6, wall: took },
      }
    },
  }
}

/** The middle one. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
