/**
 * After an installation: removes what nothing here reads from the packages of this installation, some 125 MB: Node's headers, which
 * serve to compile addons, and Prisma's query compilers for databases that are not PostgreSQL. Packages that are shared with
 * somebody else's application stay as they are. Runs on Node 20, before anything else of ours does.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** The entries of a folder; none where there is no such folder. */
const entriesOf = (folder) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])

function remove(folder, isNeedless) {
  for (const { name } of entriesOf(folder)) {
    if (isNeedless(name)) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

// One folder for each platform that Node was brought for.
const platforms = join(own, 'node/node_modules')
for (const entry of entriesOf(platforms)) {
  if (entry.isDirectory()) remove(join(platforms, entry.name), (name) => /^(include|share)$/.test(name))
}
remove(join(own, '@prisma/client/runtime'), (name) =>
  /^query_compiler_(small_bg|\w+_bg\.(cockroachdb|mysql|sqlite|sqlserver))\./.test(name),
)
