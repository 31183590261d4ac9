/**
 * After an installation: removes what nothing reads from packages that it brought, some 125 MB: Node's headers, which serve to compile
 * addons, and Prisma's query compilers for databases that are not PostgreSQL, unless somebody works with Prisma beside us. Runs on
 * Node 20, before anything else of ours does.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(new URL('../..', import.meta.url))
const above = resolve(own, '..')
/** Of a clone and a global installation below ourselves; of a project that depends on us it is where we lie. */
const modules =
  existsSync(join(own, 'node_modules')) || basename(above) !== 'node_modules' ? join(own, 'node_modules') : above

/** The entries of a folder; none where there is no such folder. */
const entriesOf = (folder) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])

function remove(folder, isNeedless) {
  for (const { name } of entriesOf(folder)) {
    if (isNeedless(name)) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

// One folder for each platform that Node was brought for.
const platforms = join(modules, 'node/node_modules')
for (const entry of entriesOf(platforms)) {
  if (entry.isDirectory()) remove(join(platforms, entry.name), (name) => /^(include|share)$/.test(name))
}
if (!existsSync(join(modules, 'prisma'))) {
  remove(join(modules, '@prisma/client/runtime'), (name) =>
    /^query_compiler_(small_bg|\w+_bg\.(cockroachdb|mysql|sqlite|sqlserver))\./.test(name),
  )
}
