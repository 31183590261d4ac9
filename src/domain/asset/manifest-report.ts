/** What a file's own manifest claims, made short: every part is a stranger's, and bounded. */

/** How far a manifest can be believed. */
export const manifestStates = {
  TRUSTED: 'It is intact, and who signed stands on the operator’s trust list.',
  VALID: 'It is intact. Who signed is known to nobody here: anybody may have, under any name.',
  INVALID: 'It does not fit the file, or is not signed as it has to be.',
  UNREADABLE: 'There is one, and it cannot be read.',
} as const

/** A state. */
export type ManifestState = keyof typeof manifestStates

/** What is kept of a manifest. */
export interface ManifestReport {
  state: ManifestState
  /** The certificates that the signer was judged by, in words; null where there are none. */
  trustList: string | null
  generator: string | null
  title: string | null
  signer: string | null
  issuer: string | null
  signedAt: string | null
  actions: string[]
  creators: string[]
  digitalSourceType: string | null
  /** `name: use`. */
  mining: string[]
  problems: string[]
  /** Manifests in the file: this one, and those that it was made from. */
  manifestCount: number
  checkedAt: string
}

/** Characters of a text, and items of a list. */
export const reportBounds = { text: 255, items: 20 } as const

type Json = Record<string, unknown>

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** Without what a database cannot hold, and without half a character at the end. */
const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== ''
    ? value.slice(0, reportBounds.text).toWellFormed().replaceAll('\0', '\uFFFD')
    : null
const texts = (values: unknown[]): string[] => {
  const found = new Set<string>()
  for (const value of values) {
    const one = text(value)
    if (one !== null) found.add(one)
    if (found.size === reportBounds.items) break
  }
  return [...found]
}

const nothing = {
  ...{ generator: null, title: null, signer: null, issuer: null, signedAt: null, digitalSourceType: null },
  ...{ actions: [], creators: [], mining: [], problems: [] },
}

/** A report on what cannot be read. */
export const unreadable = (problem: string, checkedAt: Date): ManifestReport => ({
  ...nothing,
  state: 'UNREADABLE',
  trustList: null,
  problems: texts([problem]),
  manifestCount: 0,
  checkedAt: checkedAt.toISOString(),
})

const generatorOf = ({ claim_generator_info: info, claim_generator: old }: Json) => {
  const { name, version } = object(list(info)[0])
  return text(name) === null ? text(old) : text([name, version].filter((part) => typeof part === 'string').join(' '))
}

const stateOf = (state: unknown, isJudged: boolean): ManifestState => {
  // The library may know certificates that this operator never named.
  if (state === 'Trusted') return isJudged ? 'TRUSTED' : 'VALID'
  return state === 'Valid' ? 'VALID' : 'INVALID'
}

/** What each place tells of who made it. */
const creatorsOf = (data: Json) => [
  ...list(data.author).map((author) => object(author).name),
  ...list(data['dc:creator']),
  data['dc:creator'],
]

/** From what the library reports, as JSON text. Raises a SyntaxError or RangeError when that is none. */
export function reportOf(report: string, trustList: string | null, checkedAt: Date): ManifestReport {
  const {
    active_manifest: active,
    manifests,
    validation_state: state,
    validation_results: results,
  } = object(JSON.parse(report))
  const all = object(manifests)
  const manifest = object(typeof active === 'string' && Object.hasOwn(all, active) ? all[active] : undefined)
  const assertions = list(manifest.assertions).map(object)
  const of = (label: RegExp) =>
    assertions.filter(({ label: name }) => typeof name === 'string' && label.test(name)).map(({ data }) => object(data))
  const actions = of(/^c2pa\.actions/).flatMap((data) => list(data.actions).map(object))
  const mining = of(/training-mining/).flatMap((data) => Object.entries(object(data.entries)))
  const signature = object(manifest.signature_info)
  const failures = list(object(object(results).activeManifest).failure)
  return {
    state: stateOf(state, trustList !== null),
    trustList,
    generator: generatorOf(manifest),
    title: text(manifest.title),
    signer: text(signature.common_name),
    issuer: text(signature.issuer),
    signedAt: text(signature.time),
    actions: texts(actions.map(({ action }) => action)),
    creators: texts(of(/CreativeWork|metadata/).flatMap(creatorsOf)),
    digitalSourceType: texts(actions.map(({ digitalSourceType }) => digitalSourceType))[0] ?? null,
    mining: texts(mining.map(([name, entry]) => `${name}: ${text(object(entry).use) ?? ''}`)),
    problems: texts(failures.map((failure) => object(failure).code)),
    manifestCount: Object.keys(all).length,
    checkedAt: checkedAt.toISOString(),
  }
}
