/** The type `ContentCredentials`: a summary of a manifest, as `assets.content_credentials` stores it. */
import { builder, optionalText } from '../../graphql/builder.ts'
import { atMost } from '../../graphql/limits/document-cost.ts'

const states = {
  TRUSTED: 'The manifest is intact, and the signer is on the operator’s trust list.',
  VALID: 'The manifest is intact. The signer is on no trust list, so the name of the signer proves nothing.',
  INVALID: 'The manifest does not match the file, or its signature is wrong.',
  UNREADABLE: 'The file has a manifest that cannot be read.',
  REMOTE: 'The file has no manifest but contains the URL of a remote manifest. Annal does not fetch remote manifests.',
}
export type ManifestState = keyof typeof states

/** Fields that are a text or null, with their descriptions. */
const texts = {
  trustList: 'The trust list that the signer was checked against. Null if the operator has configured none.',
  signer: 'The name in the signing certificate.',
  issuer: 'The organization in the signing certificate.',
  signedAt: 'The time of the time stamp. Null if the signature has none.',
  generator: 'The program that made the manifest.',
  title: 'The title of the file.',
  digitalSourceType: 'The origin of the file, as a URL of the IPTC vocabulary.',
}

/** Fields that are a list of texts, with their descriptions. */
const lists = {
  creators: 'The creators of the file.',
  actions: 'The actions that were applied to the file, such as `c2pa.created`.',
  mining: 'The permissions for data mining and machine learning, such as `cawg.ai_training: notAllowed`.',
  problems:
    'The problems of the manifest, as status codes of C2PA. `signingCredential.untrusted` means that the signer is on no trust list.',
}

export type ManifestReport = Record<keyof typeof texts, string | null> &
  Record<keyof typeof lists, string[]> & {
    state: ManifestState
    /** Missing in old reports, as is `remoteManifestUrl`. */
    notChecked?: string[]
    remoteManifestUrl?: string | null
    manifestCount: number
    checkedAt: string
  }

/** Maximum length of a text and of a URL, in characters, and maximum number of list items. */
export const reportBounds = { text: 255, url: 2_000, items: 20 } as const

const State = builder.enumType('ContentCredentialsState', {
  description: 'The validation state of the manifest in a file.',
  values: Object.fromEntries(
    Object.entries(states).map(([name, description]) => [name, { value: name, description }]),
  ) as unknown as { [Name in ManifestState]: { value: Name } },
})

const mapTable = <Name extends string, Field>(
  table: Record<Name, string>,
  field: (name: Name, text: string) => Field,
) => Object.fromEntries(Object.entries(table).map(([name, text]) => [name, field(name as Name, text as string)]))

export const ContentCredentialsType = builder.objectRef<ManifestReport>('ContentCredentials').implement({
  description:
    'A summary of the C2PA manifest in a file, read soon after the file was registered. The signer of the manifest makes these claims, not Annal. Texts are cut after 255 characters, lists after 20 items.',
  fields: (t) => ({
    state: t.expose('state', { type: State, description: 'The validation state of the manifest.' }),
    ...mapTable(texts, (name, description) => t.exposeString(name, optionalText(reportBounds.text, description))),
    ...mapTable(lists, (name, description) => t.exposeStringList(name, { ...atMost(reportBounds.items), description })),
    notChecked: t.stringList({
      ...atMost(reportBounds.items),
      description:
        'The parts of the manifest that Annal could not check: `identity not checked`, `time stamp not checked` or `remote manifest, not fetched`. An unchecked part does not make a manifest invalid.',
      resolve: ({ notChecked }) => notChecked ?? [],
    }),
    remoteManifestUrl: t.exposeString(
      'remoteManifestUrl',
      optionalText(
        reportBounds.url,
        'URL of the remote manifest, of at most 2,000 characters. Null unless `state` is REMOTE.',
      ),
    ),
    manifestCount: t.exposeInt('manifestCount', {
      description: 'Number of manifests in the file: the newest manifest and the manifests of its ingredients.',
    }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'The time when the manifest was checked.',
      resolve: ({ checkedAt }) => new Date(checkedAt),
    }),
  }),
})
