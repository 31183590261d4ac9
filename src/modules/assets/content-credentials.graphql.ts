import { builder, optionalText } from '../../graphql/builder.ts'
import { atMost } from '../../graphql/limits/document-cost.ts'
import { type ManifestReport, manifestStates, reportBounds } from './manifest-report.ts'

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
