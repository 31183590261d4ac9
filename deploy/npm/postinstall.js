/**
 * Runs after an installation. In a clone, it generates the sources that are not committed. It also deletes unused files
 * (about 145 MB) from installed packages, unless another project shares them. Must also run on Node 20.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canGenerate, generate } from './generate.js'

const unused = [
  // C++ headers of Node, one folder per platform.
  { folder: 'node/node_modules/*', names: /^(include|share)$/ },
  // Prisma's query compilers for other databases and for runtimes without a file system.
  {
    folder: '@prisma/client/runtime',
    names: /^(query_compiler_(small_bg|\w+_bg\.(cockroachdb|mysql|sqlite|sqlserver))|wasm-compiler-edge)\./,
  },
  // Browser bundles and TypeScript sources.
  { folder: 'ethers', names: /^(dist|src\.ts)$/ },
  ...['@aws-sdk/*', '@smithy/*'].map((folder) => ({ folder, names: /^dist-es$/ })),
]
const unusedInProduction = [
  // An optional peer dependency of Prisma's client.
  { folder: '@typescript/*', names: /./ },
  { folder: 'ethers', names: /^lib\.commonjs$/ },
  ...['@aws-sdk/*', '@smithy/*'].map((folder) => ({ folder, names: /^dist-types$/ })),
]

const own = fileURLToPath(new URL('../..', import.meta.url))
const parent = resolve(own, '..')
const isDependency = basename(parent) === 'node_modules' && !existsSync(join(own, 'node_modules'))
const isProduction = isDependency || (process.env.npm_config_omit ?? '').split(/\s+/).includes('dev')
const modules = isDependency ? parent : join(own, 'node_modules')

/** Returns false if the project that depends on Annal has other dependencies, which may need the files. */
function isOnlyDependency() {
  const manifest = resolve(parent, '../package.json')
  if (!isDependency || !existsSync(manifest)) return true
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).every((name) => name === 'annal')
}

/** Folders that match a path whose last part may be `*`. */
function matchingFolders(path) {
  if (!path.endsWith('/*')) return [join(modules, path)]
  const container = join(modules, path.slice(0, -2))
  if (!existsSync(container)) return []
  const entries = readdirSync(container, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(container, name))
}

if (canGenerate) generate()

if (isOnlyDependency()) {
  for (const { folder, names } of isProduction ? [...unused, ...unusedInProduction] : unused) {
    for (const each of matchingFolders(folder).filter((path) => existsSync(path))) {
      for (const name of readdirSync(each))
        if (names.test(name)) rmSync(join(each, name), { recursive: true, force: true })
    }
  }
}
