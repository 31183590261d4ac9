/**
 * What our manifest says: the words of the asset tree in the standard assertions of C2PA and CAWG, gathered from whoever wrote
 * them, and an assertion of ours with what proves them.
 */
import type { ManifestDefinition, ManifestRequest } from '../../files/file-types.ts'

/** What a manifest is written from. */
export interface ManifestFacts {
  nid: string
  fileName: string
  /** The tree of the newest commit, as text. */
  tree: string
  treeCid: string
  treeSha256: string
  /** Of the newest commit, from 1. */
  sequence: number
  /** Null until the chain has the commit. */
  transaction: string | null
  chainId: string | null
  registry: string | null
}

/** The label of our assertion. */
const REGISTRATION_LABEL = 'org.annal.registration'

const SOURCE_TYPES = 'http://cv.iptc.org/newscodes/digitalsourcetype/'
/** What the tree may say of mining: by whom it is asked (CAWG 1.1), in the order in which it stands. */
const MINING = ['data_mining', 'ai_inference', 'ai_training', 'ai_generative_training'] as const
const USES: ReadonlySet<unknown> = new Set(['allowed', 'notAllowed', 'constrained'])

type Tree = Record<string, unknown>

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** A name of IPTC's vocabulary, or its whole address; undefined for anything else. */
function sourceTypeOf({ digitalSourceType }: Tree): string | undefined {
  const text = textOf(digitalSourceType)?.replace(/^https:/, 'http:')
  if (text?.startsWith(SOURCE_TYPES)) return text
  return text && /^[a-zA-Z]{1,60}$/.test(text) ? SOURCE_TYPES + text : undefined
}

/** `miningPreference` as one word for everything, or as an object with a word for each. */
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

/** Readers from before CAWG's metadata show who made it from this one. */
const creativeWorkOf = (tree: Tree) => ({
  '@context': 'http://schema.org/',
  '@type': 'CreativeWork',
  author: [
    {
      '@type': 'Person',
      name: textOf(tree.assetCreator) ?? '',
      ...(textOf(tree.creatorWallet) && { identifier: tree.creatorWallet }),
    },
  ],
})

const registrationOf = (facts: ManifestFacts) => ({
  nid: facts.nid,
  tree: facts.treeCid,
  treeSha256: facts.treeSha256,
  commit: facts.sequence,
  ...(facts.transaction && {
    transaction: facts.transaction,
    chainId: facts.chainId,
    registry: facts.registry,
  }),
})

/** What is to be written into the file. `version` is that of this program. */
export function manifestOf(facts: ManifestFacts, version: string): Omit<ManifestRequest, 'format'> {
  const tree = JSON.parse(facts.tree) as Tree
  const sourceType = sourceTypeOf(tree)
  const consent = consentOf(tree)
  const definition = (actions: object[]): ManifestDefinition => ({
    claim_generator_info: [{ name: 'Annal', version }],
    title: textOf(tree.headline) ?? facts.fileName,
    assertions: [
      { label: 'c2pa.actions.v2', data: { actions }, created: true },
      { label: REGISTRATION_LABEL, data: registrationOf(facts), created: true },
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
