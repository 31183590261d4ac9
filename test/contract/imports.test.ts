/** Checks the import rules of `docs/explanation/architecture.md`. Each message says what to do instead. */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)
const isGenerated = (file: string) => /^(db\/prisma\/|.*\/generated\/)/.test(file)
const files = globSync('**/*.ts', { cwd: new URL('src', root) })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !isGenerated(file))
  .sort()
const read = (file: string, folder = 'src/') => readFileSync(new URL(folder + file, root), 'utf8')

interface Import {
  target: string
  specifier: string
  isLocal: boolean
  isTypeOnly: boolean
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s*)?'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g

function importsOf(file: string, folder?: string): Import[] {
  const text = read(file, folder)
  const found = [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier]) => ({
      specifier: specifier!,
      isTypeOnly: Boolean(type),
    })),
    ...[...text.matchAll(DYNAMIC)].map(([, specifier]) => ({ specifier: specifier!, isTypeOnly: false })),
  ]
  return found.map(({ specifier, isTypeOnly }) => {
    const isLocal = specifier.startsWith('.')
    const target = isLocal ? posix.normalize(posix.join(posix.dirname(file), specifier)) : specifier
    return { target, specifier, isLocal, isTypeOnly }
  })
}

const VERIFIER = '../packages/verify/src'

/** Folders of `src`, and what each may import besides itself. `instead` says what to do when an import is refused. */
const shared = ['shared', 'db', 'telemetry/telemetry-types.ts']
const foundation = [...shared, 'keys', 'jobs', 'telemetry', 'locales']
const rules: Record<string, { may: string[]; instead: string }> = {
  shared: {
    may: ['db', 'telemetry/telemetry-types.ts', 'keys/key-types.ts', VERIFIER],
    instead: 'Shared code knows no feature: move it to a module.',
  },
  locales: { may: ['shared'], instead: 'Texts depend on the language only.' },
  graphql: {
    may: [...foundation, 'http', 'modules', 'files', 'context.ts'],
    instead: 'Put rules into a use case of a module.',
  },
  http: {
    may: [...foundation, 'modules', 'graphql', 'files', 'context.ts', 'app.ts'],
    instead: 'Put rules into a use case of a module.',
  },
  modules: {
    may: [...foundation, 'http', 'graphql', 'files', 'mail', 'chain', 'context.ts', 'infrastructure.ts', VERIFIER],
    instead: 'A module does not know the process, its configuration or the command line.',
  },
  chain: {
    may: [...foundation, 'modules', 'embedded', 'files', 'infrastructure.ts', 'config.ts', VERIFIER],
    instead: 'The chain knows neither requests nor pages.',
  },
  files: {
    may: [...foundation, 'http/http-server.ts', 'modules/assets', VERIFIER],
    instead: 'Files know no requests.',
  },
  mail: { may: [...foundation, 'modules/webhooks'], instead: 'Mails are sent by the modules.' },
  keys: { may: [...shared, 'modules', 'files', 'jobs', 'embedded'], instead: 'Keys know no requests.' },
  db: {
    may: ['shared', 'telemetry', 'jobs', 'modules', 'config.ts', 'chain', 'files', 'keys', 'embedded'],
    instead: 'The database knows no requests.',
  },
  jobs: { may: [...foundation, 'modules', 'files', 'mail'], instead: 'Jobs know no requests.' },
  telemetry: { may: [...shared, 'modules', 'http', 'jobs', 'chain'], instead: 'Telemetry only observes.' },
  embedded: { may: [...shared, 'keys', 'telemetry'], instead: 'Embedded servers know no feature.' },
  config: { may: ['shared', 'db'], instead: 'The configuration knows no part: hand its values to the parts.' },
  'config.ts': { may: ['config', 'shared'], instead: 'The configuration knows no part: hand its values to the parts.' },
}

/** The verifier is a package of its own: it must not depend on the service that it verifies. */
const VERIFIER_PACKAGES = /^(@ethereumjs\/mpt|@ipld\/car\/.+|@ipld\/dag-pb|ethers|multiformats(\/.+)?|node:.+)$/

/** Modules that the service can do without. */
const OPTIONAL = /^modules\/(coins|content-credentials|admin)\//

/** Packages that a few folders import. */
const restricted: { name: RegExp; folders: RegExp; instead: string }[] = [
  { name: /^ethers$/, folders: /^(chain|modules\/coins)\//, instead: 'Use chain/.' },
  { name: /^nodemailer/, folders: /^mail\//, instead: 'Send mails through mail/mailer.ts.' },
  { name: /^pg$/, folders: /^(db|jobs|embedded)\/|^chain\/lease\.ts$/, instead: 'Use db/.' },
]

const buildSteps = [
  'chain/compile.ts',
  'db/new-migration.ts',
  'http/rest/codegen.ts',
  'http/openapi/print-openapi.ts',
  'graphql/print-schema.ts',
]

const packageOf = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

const areaOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)

const isIn = (target: string, place: string) => target === place || target.startsWith(`${place}/`)

describe('imports', () => {
  it('every import follows the import rules of its folder', () => {
    const complaints = files.flatMap((file) => {
      const rule = rules[areaOf(file)]
      if (!rule || buildSteps.includes(file)) return []
      return importsOf(file)
        .filter(({ isLocal, target }) => isLocal && target !== '../package.json')
        .filter(({ target }) => ![areaOf(file), ...rule.may].some((place) => isIn(target, place)))
        .map(({ specifier }) => `src/${file} imports '${specifier}'. ${rule.instead}`)
    })
    expect(complaints, complaints.join('\n')).toEqual([])
  })

  it('the verifier package does not import the service', () => {
    const folder = 'packages/verify/src/'
    const complaints = globSync('**/*.ts', { cwd: new URL(folder, root) }).flatMap((file) =>
      importsOf(file, folder)
        .filter(({ isLocal, target }) => (isLocal ? target.startsWith('..') : !VERIFIER_PACKAGES.test(target)))
        .map(({ specifier }) => `${folder}${file} imports '${specifier}'.`),
    )
    expect(complaints).toEqual([])
  })

  it('optional modules are imported only in app.ts', () => {
    const complaints = files
      .filter((file) => file !== 'app.ts')
      .flatMap((file) => {
        const own = OPTIONAL.exec(file)?.[0]
        return importsOf(file)
          .map(({ target }) => OPTIONAL.exec(target)?.[0])
          .filter((module) => module !== undefined && module !== own)
          .map((module) => `src/${file} imports ${module}. Use the context, or an interface of the module in app.ts.`)
      })
    expect(complaints, complaints.join('\n')).toEqual([])
  })

  it('restricted packages are imported only in their folder', () => {
    const complaints = restricted.flatMap(({ name, folders, instead }) =>
      files
        .filter((file) => !folders.test(file) && importsOf(file).some(({ target }) => name.test(target)))
        .map((file) => `src/${file} imports ${name.source}. ${instead}`),
    )
    expect(complaints).toEqual([])
  })

  it('every package that the service imports is a production dependency', () => {
    const complaints = files
      .filter((file) => !buildSteps.includes(file))
      .flatMap((file) => importsOf(file).map((each) => ({ file, ...each })))
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .filter(({ isLocal, specifier, target }) =>
        isLocal
          ? buildSteps.includes(target)
          : !specifier.startsWith('node:') && !(packageOf(specifier) in manifest.dependencies),
      )
      .map(({ file, specifier }) => `src/${file} imports '${specifier}', which production does not have.`)
    expect(complaints).toEqual([])
  })
})

function findCircles(): string[] {
  const seen = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, way: string[]) => {
    const at = way.indexOf(file)
    if (at >= 0) circles.push([...way.slice(at), file].join(' → '))
    if (seen.has(file)) return
    seen.add(file)
    for (const { target, isLocal } of importsOf(file)) {
      if (isLocal && files.includes(target)) walk(target, [...way, file])
    }
  }
  for (const file of files) walk(file, [])
  return circles
}

describe('source files', () => {
  it('source files have no import cycle, not even for types', () => {
    const circles = findCircles()
    expect(circles, `Move what both need into a file of its own:\n${circles.join('\n')}`).toEqual([])
  })

  it('no source file is a barrel, except the interface of an optional module', () => {
    const others = files.filter((file) => !/\.(module|api|operations)\.ts$/.test(file))
    expect(others.filter((file) => /^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\s/m.test(read(file)))).toEqual([])
  })

  it('no source file reads the environment, except config.ts', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(read(file)) && file !== 'config.ts')
    expect(readers, 'add a variable to src/config/variables.ts and hand its value in').toEqual([])
  })
})
