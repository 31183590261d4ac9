import { builder, optionalText } from '../../graphql/builder.ts'
import { atMost } from '../../graphql/limits/document-cost.ts'

/** Validation states of a manifest with their descriptions. */
export const manifestStates = {
  TRUSTED: 'The manifest is intact, and the signer is on the operator’s trust list.',
  VALID: 'The manifest is intact. The signer is on no trust list, so the name of the signer proves nothing.',
  INVALID: 'The manifest does not match the file, or its signature is wrong.',
  UNREADABLE: 'The file has a manifest that cannot be read.',
  REMOTE: 'The file has no manifest but contains the URL of a remote manifest. Annal does not fetch remote manifests.',
} as const

export type ManifestState = keyof typeof manifestStates

/** Summary of a manifest, which is stored with the asset. */
export interface ManifestReport {
  state: ManifestState
  /** Description of the trust list that the signer was checked against. Null if none is configured. */
  trustList: string | null
  generator: string | null
  title: string | null
  signer: string | null
  issuer: string | null
  signedAt: string | null
  actions: string[]
  creators: string[]
  digitalSourceType: string | null
  /** Permissions for data mining, as entries in the format `name: use`. */
  mining: string[]
  problems: string[]
  /** Parts that Annal cannot check without network access and a list of identity issuers. Missing in old reports. */
  notChecked?: string[]
  /** URL of the remote manifest. Set only if the state is REMOTE. */
  remoteManifestUrl?: string | null
  /** Number of manifests in the file, including those of its ingredients. */
  manifestCount: number
  checkedAt: string
}

/** Maximum length of a text and of a URL, in characters, and maximum number of list items. */
export const reportBounds = { text: 255, url: 2_000, items: 20 } as const

const State = builder.enumType('ContentCredentialsState', {
  description: 'The validation state of the manifest in a file.',
  values: Object.fromEntries(
    Object.entries(manifestStates).map(([name, description]) => [name, { value: name, description }]),
  ) as { [Name in keyof typeof manifestStates]: { value: Name; description: string } },
})

type Names<Value> = {
  [Name in keyof ManifestReport]-?: ManifestReport[Name] extends Value ? Name : never
}[keyof ManifestReport]

export const ContentCredentialsType = builder.objectRef<ManifestReport>('ContentCredentials').implement({
  description:
    'A summary of the C2PA manifest in a file, read soon after the file was registered. The signer of the manifest makes these claims, not Annal. Texts are cut after 255 characters, lists after 20 items.',
  fields: (t) => {
    const text = (name: Names<string | null>, description: string) =>
      t.exposeString(name, optionalText(reportBounds.text, description))
    const list = (name: Names<string[]>, description: string) =>
      t.exposeStringList(name, { ...atMost(reportBounds.items), description })
    return {
      state: t.expose('state', { type: State, description: 'The validation state of the manifest.' }),
      trustList: text(
        'trustList',
        'The trust list that the signer was checked against. Null if the operator has configured none.',
      ),
      signer: text('signer', 'The name in the signing certificate.'),
      issuer: text('issuer', 'The organization in the signing certificate.'),
      signedAt: text('signedAt', 'The time of the time stamp. Null if the signature has none.'),
      generator: text('generator', 'The program that made the manifest.'),
      title: text('title', 'The title of the file.'),
      creators: list('creators', 'The creators of the file.'),
      actions: list('actions', 'The actions that were applied to the file, such as `c2pa.created`.'),
      digitalSourceType: text('digitalSourceType', 'The origin of the file, as a URL of the IPTC vocabulary.'),
      mining: list(
        'mining',
        'The permissions for data mining and machine learning, such as `cawg.ai_training: notAllowed`.',
      ),
      problems: list(
        'problems',
        'The problems of the manifest, as status codes of C2PA. `signingCredential.untrusted` means that the signer is on no trust list.',
      ),
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
          'URL of the remote manifest that the file refers to. Set only when `state` is REMOTE and the URL has at most 2,000 characters.',
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
    }
  },
})
