/** A standby that reads are answered by, whose replay can be held, and that can be frozen. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import { readPostmaster } from '../../src/platform/embedded/postgres-cluster.ts'
import { eventually } from './eventually.ts'
import { following, type PostgresServer } from './postgres-server.ts'

export interface Standby extends Pick<PostgresServer, 'url' | 'sql' | 'kill'> {
  /** Of its main process. */
  pid: number
  /** Holds what comes in: from now on it shows the past. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Waits until it shows all that the primary has committed. */
  catchUp(): Promise<void>
  /** Stops all its processes where they are, or lets them go on. */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

const CONFLICT_WITH_RECOVERY = '40001'

const settings = { hot_standby_feedback: 'off', max_standby_streaming_delay: '100ms' }

/** Makes a standby of a server, with its files below `dir`, and waits until it answers. */
export async function startStandby(primary: PostgresServer, dir: string): Promise<Standby> {
  const standby = await primary.makeStandby({ dir, hosts: ['127.0.0.1'], port: await findFreePort() })
  await standby.start({ ...settings, ...following(primary, 'standby') })
  const { pid } = (await readPostmaster(join(dir, 'postgres')))!
  const { url, kill } = standby

  /** Asks again when a replay that was held goes on in the middle of it: PostgreSQL ends what still reads the past. */
  const sql: PostgresServer['sql'] = async (...query) => {
    for (;;) {
      try {
        return await standby.sql(...query)
      } catch (err) {
        if ((err as { code?: string }).code !== CONFLICT_WITH_RECOVERY) throw err
      }
    }
  }

  /** Each connection has a process of its own. */
  async function signal(name: NodeJS.Signals) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const each of [pid, ...children.trim().split(' ').map(Number)]) {
      // One may have ended meanwhile.
      try {
        process.kill(each, name)
      } catch {}
    }
  }

  return {
    url,
    sql,
    kill,
    pid,
    async pause() {
      await sql('select pg_wal_replay_pause()')
      await eventually(
        async () => (await sql<{ state: string }>('select pg_get_wal_replay_pause_state() as state'))[0]!.state,
        (state) => state === 'paused',
      )
    },
    async resume() {
      await sql('select pg_wal_replay_resume()')
    },
    async catchUp() {
      // What is written now is sent at once.
      const message = `select pg_logical_emit_message(false, 'standby', '', true)::text as place`
      const [at] = await primary.sql<{ place: string }>(message)
      await eventually(
        async () =>
          (await sql<{ done: boolean }>(`select pg_last_wal_replay_lsn() >= '${at!.place}' as done`))[0]!.done,
        (done) => done,
      )
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  }
}
