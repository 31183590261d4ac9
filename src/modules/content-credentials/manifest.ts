/** Content of Annal's manifests, and summaries of manifests. */
import type { ManifestDefinition, ManifestRequest } from '../../files/file-types.ts'
import { type ManifestReport, type ManifestState, reportBounds } from '../assets/content-credentials.graphql.ts'

/** The file, and its newest commit. `transaction` is null until the chain has the commit. */
export type ManifestFacts = { sequence: number } & Record<
  'nid' | 'fileName' | 'tree' | 'treeCid' | 'treeSha256',
  string
> &
  Record<'transaction' | 'chainId' | 'registry', string | null>

const SOURCE_TYPES = 'http://cv.iptc.org/newscodes/digitalsourcetype/'
/** Uses in `miningPreference` for which CAWG 1.1 defines an entry, in the order of the manifest. */
const MINING = ['data_mining', 'ai_inference', 'ai_training', 'ai_generative_training'] as const
const USES: ReadonlySet<unknown> = new Set(['allowed', 'notAllowed', 'constrained'])

type Tree = Record<string, unknown>

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** Returns the URL of an IPTC digital source type, given by name or URL. */
function sourceTypeOf({ digitalSourceType }: Tree): string | undefined {
  const text = textOf(digitalSourceType)?.replace(/^https:/, 'http:')
  if (text?.startsWith(SOURCE_TYPES)) return text
  return text && /^[a-zA-Z]{1,60}$/.test(text) ? SOURCE_TYPES + text : undefined
}

/** Converts `miningPreference` to a CAWG assertion. It is one word, or an object with a word for each use. */
function consentOf({ miningPreference: given }: Tree): Tree | undefined {
  const useOf = (name: string) => (typeof given === 'object' && given !== null ? (given as Tree)[name] : given)
  const entries = MINING.flatMap((name) => (USES.has(useOf(name)) ? [[`cawg.${name}`, { use: useOf(name) }]] : []))
  return entries.length ? { entries: Object.fromEntries(entries) } : undefined
}

function metadataOf(tree: Tree, sourceType: string | undefined): Tree {
  const license = Object(tree.license) as Tree
  const fields = {
    'dc:creator': textOf(tree.assetCreator) && [tree.assetCreator],
    'dc:title': textOf(tree.headline),
    'dc:description': textOf(tree.abstract),
    'dc:rights': textOf(license.name),
    'xmpRights:WebStatement': textOf(license.document),
    'Iptc4xmpCore:AltTextAccessibility': textOf(tree.altText),
    'Iptc4xmpExt:DigitalSourceType': sourceType,
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return {
    '@context': {
      dc: 'http://purl.org/dc/elements/1.1/',
      xmpRights: 'http://ns.adobe.com/xap/1.0/rights/',
      Iptc4xmpCore: 'http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/',
      Iptc4xmpExt: 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
    },
    ...Object.fromEntries(given),
  }
}

/** Readers without support for CAWG metadata show the creator from this assertion. */
function creativeWorkOf(tree: Tree) {
  const person = { '@type': 'Person', name: textOf(tree.assetCreator) ?? '' }
  const identifier = textOf(tree.creatorWallet)
  const author = [{ ...person, ...(identifier !== undefined && { identifier }) }]
  return { '@context': 'http://schema.org/', '@type': 'CreativeWork', author }
}

const registrationOf = ({ nid, treeCid, treeSha256, sequence, transaction, chainId, registry }: ManifestFacts) => ({
  ...{ nid, tree: treeCid, treeSha256, commit: sequence },
  ...(transaction && { transaction, chainId, registry }),
})

export function manifestOf(facts: ManifestFacts, version: string): Omit<ManifestRequest, 'format'> {
  const tree = JSON.parse(facts.tree) as Tree
  const sourceType = sourceTypeOf(tree)
  const consent = consentOf(tree)
  const definition = (actions: object[]): ManifestDefinition => ({
    claim_generator_info: [{ name: 'Annal', version }],
    title: textOf(tree.headline) ?? facts.fileName,
    assertions: [
      { label: 'c2pa.actions.v2', data: { actions }, created: true },
      { label: 'org.annal.registration', data: registrationOf(facts), created: true },
      { label: 'cawg.metadata', data: metadataOf(tree, sourceType), kind: 'Json' },
      { label: 'stds.schema-org.CreativeWork', data: creativeWorkOf(tree), kind: 'Json' },
      ...(consent ? [{ label: 'cawg.training-mining', data: consent }] : []),
    ],
  })
  const published = { action: 'c2pa.published' }
  const created = sourceType && { action: 'c2pa.created', digitalSourceType: sourceType }
  return {
    first: definition(created ? [created, published] : [published]),
    firstIsOrigin: created !== undefined,
    following: definition([published]),
  }
}

const object = (value: unknown): Tree => (typeof value === 'object' && value !== null ? (value as Tree) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** Shortens a text and removes null characters and lone surrogates, which the database cannot store. */
const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== ''
    ? value.slice(0, reportBounds.text).toWellFormed().replaceAll('\0', '\uFFFD')
    : null
const texts = (values: unknown[]): string[] =>
  [...new Set(values.flatMap((value) => text(value) ?? []))].slice(0, reportBounds.items)

const emptyReport = (state: ManifestState, checkedAt: Date): ManifestReport => ({
  ...{ state, trustList: null, generator: null, title: null, signer: null, issuer: null, signedAt: null },
  ...{ actions: [], creators: [], digitalSourceType: null, mining: [], problems: [], notChecked: [] },
  ...{ remoteManifestUrl: null, manifestCount: 0, checkedAt: checkedAt.toISOString() },
})

export const unreadable = (problem: string, checkedAt: Date): ManifestReport => ({
  ...emptyReport('UNREADABLE', checkedAt),
  problems: texts([problem]),
})

const generatorOf = ({ claim_generator_info: info, claim_generator: old }: Tree) => {
  const { name, version } = object(list(info)[0])
  return text(name) === null ? text(old) : text([name, version].filter((part) => typeof part === 'string').join(' '))
}

const remote = (url: string, checkedAt: Date): ManifestReport => ({
  ...emptyReport('REMOTE', checkedAt),
  notChecked: ['remote manifest, not fetched'],
  // XMP is XML, so `&` is escaped. A shortened URL would be a different one.
  remoteManifestUrl: url.length > reportBounds.url ? null : url.replaceAll('&amp;', '&'),
})

/** Status codes of a CAWG identity that cannot be checked without a network or trusted issuers. */
const UNCHECKED_IDENTITY: ReadonlySet<unknown> = new Set([
  ...['did_unavailable', 'invalid_issuer', 'untrusted_issuer'].map((code) => `cawg.ica.${code}`),
  ...['cawg.identity.sig_type.unknown', 'cawg.x509.credential.untrusted'],
])
/** Returns true for a failure that leaves a manifest valid. Only the trust list decides about the signer. */
const isHarmless = (code: unknown) => code === 'signingCredential.untrusted' || UNCHECKED_IDENTITY.has(code)

const codesOf = (statuses: unknown) => list(statuses).map((status) => object(status).code)

/** Returns the validation state, ignoring identities that could not be checked. */
function validationState(reported: unknown, results: Tree): unknown {
  const { success, failure } = object(results.activeManifest)
  const deltas = list(results.ingredientDeltas).map((delta) => object(object(delta).validationDeltas).failure)
  const failures = [failure, ...deltas].flatMap(codesOf)
  if (!failures.some((code) => UNCHECKED_IDENTITY.has(code))) return reported
  const passed = codesOf(success)
  const isIntact = ['claimSignature.validated', 'claimSignature.insideValidity'].every((code) => passed.includes(code))
  if (!isIntact || !failures.every(isHarmless)) return reported
  const isTrusted = passed.includes('signingCredential.trusted') && !failures.includes('signingCredential.untrusted')
  return isTrusted ? 'Trusted' : 'Valid'
}

/** Summarizes the JSON report of the manifest process. Throws a SyntaxError or RangeError for invalid JSON. */
export function reportOf(report: string, trustList: string | null, checkedAt: Date): ManifestReport {
  const given = object(JSON.parse(report))
  const { active_manifest: active, remote_manifest_url: url } = given
  if (typeof url === 'string') return remote(url, checkedAt)
  const all = object(given.manifests)
  const manifest = object(typeof active === 'string' && Object.hasOwn(all, active) ? all[active] : undefined)
  const assertions = list(manifest.assertions).map(object)
  const of = (label: RegExp) =>
    assertions.filter(({ label: name }) => typeof name === 'string' && label.test(name)).map(({ data }) => object(data))
  const actions = of(/^c2pa\.actions/).flatMap((data) => list(data.actions).map(object))
  const mining = of(/training-mining/).flatMap((data) => Object.entries(object(data.entries)))
  const creators = of(/CreativeWork|metadata/).flatMap(({ author, 'dc:creator': creator }) => [
    ...list(author).map((each) => object(each).name),
    ...(Array.isArray(creator) ? creator : [creator]),
  ])
  const signature = object(manifest.signature_info)
  const results = object(given.validation_results)
  const { failure, informational } = object(results.activeManifest)
  const hasUncheckedIdentity = [failure, informational].flatMap(codesOf).some((code) => UNCHECKED_IDENTITY.has(code))
  const hasUncheckedTimeStamp = given.is_time_stamp_unchecked === true
  // The library may trust certificates that the operator did not configure.
  const canTrust = trustList !== null && !hasUncheckedTimeStamp
  const state = validationState(given.validation_state, results)
  return {
    state: state === 'Trusted' && canTrust ? 'TRUSTED' : state === 'Trusted' || state === 'Valid' ? 'VALID' : 'INVALID',
    ...{ trustList, generator: generatorOf(manifest), title: text(manifest.title) },
    ...{ signer: text(signature.common_name), issuer: text(signature.issuer), signedAt: text(signature.time) },
    actions: texts(actions.map(({ action }) => action)),
    creators: texts(creators),
    digitalSourceType: texts(actions.map(({ digitalSourceType }) => digitalSourceType))[0] ?? null,
    mining: texts(mining.map(([name, entry]) => `${name}: ${text(object(entry).use) ?? ''}`)),
    problems: texts(codesOf(failure).filter((code) => !UNCHECKED_IDENTITY.has(code))),
    notChecked: [
      ...(hasUncheckedIdentity ? ['identity not checked'] : []),
      ...(hasUncheckedTimeStamp ? ['time stamp not checked'] : []),
    ],
    remoteManifestUrl: null,
    manifestCount: Object.keys(all).length,
    checkedAt: checkedAt.toISOString(),
  }
}
