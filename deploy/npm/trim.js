/**
 * After an installation: removes what nothing here reads from the packages of this installation, some 125 MB: Node's headers, which
 * serve to compile addons, and Prisma's query compilers for databases that are not PostgreSQL. Packages that are shared with
 * somebody else's application stay as they are. Runs on Node 20, before anything else of ours does.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Removes from a folder, if it is there, the entries whose names `isNeedless` says yes to. */
function remove(folder, isNeedless) {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (isNeedless(name)) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

const platforms = join(own, 'node/node_modules')
if (existsSync(platforms)) {
  for (const name of readdirSync(platforms)) remove(join(platforms, name), (entry) => /^(include|share)$/.test(entry))
}
remove(join(own, '@prisma/client/runtime'), (entry) =>
  /^query_compiler_(small_bg|\w+_bg\.(cockroachdb|mysql|sqlite|sqlserver))\./.test(entry),
)
