/** The GraphQL type of a manifest's report. */

import { builder } from '../../graphql/builder.ts'
import { atMost, characters } from '../../graphql/limits/document-cost.ts'
import { type ManifestReport, manifestStates, reportBounds } from './manifest-report.ts'

const State = builder.enumType('ContentCredentialsState', {
  description: 'The validation state of the manifest in a file.',
  values: Object.fromEntries(
    Object.entries(manifestStates).map(([name, description]) => [name, { value: name, description }]),
  ) as { [Name in keyof typeof manifestStates]: { value: Name; description: string } },
})

const words = { ...characters(reportBounds.text), nullable: true } as const
const several = { ...atMost(reportBounds.items) } as const

export const ContentCredentialsType = builder.objectRef<ManifestReport>('ContentCredentials').implement({
  description:
    'A summary of the C2PA manifest in a file, read soon after the file was registered. The signer of the manifest makes these claims, not Annal. Texts are cut after 255 characters, lists after 20 items.',
  fields: (t) => ({
    state: t.expose('state', { type: State, description: 'The validation state of the manifest.' }),
    trustList: t.exposeString('trustList', {
      ...words,
      description: 'The trust list that the signer was checked against. Null if the operator has configured none.',
    }),
    signer: t.exposeString('signer', { ...words, description: 'The name in the signing certificate.' }),
    issuer: t.exposeString('issuer', { ...words, description: 'The organization in the signing certificate.' }),
    signedAt: t.exposeString('signedAt', {
      ...words,
      description: 'The time of the time stamp. Null if the signature has none.',
    }),
    generator: t.exposeString('generator', { ...words, description: 'The program that made the manifest.' }),
    title: t.exposeString('title', { ...words, description: 'The title of the file.' }),
    creators: t.exposeStringList('creators', { ...several, description: 'The creators of the file.' }),
    actions: t.exposeStringList('actions', {
      ...several,
      description: 'The actions that were applied to the file, such as `c2pa.created`.',
    }),
    digitalSourceType: t.exposeString('digitalSourceType', {
      ...words,
      description: 'The origin of the file, as a URL of the IPTC vocabulary.',
    }),
    mining: t.exposeStringList('mining', {
      ...several,
      description: 'The permissions for data mining and machine learning, such as `cawg.ai_training: notAllowed`.',
    }),
    problems: t.exposeStringList('problems', {
      ...several,
      description:
        'The problems of the manifest, as status codes of C2PA. `signingCredential.untrusted` means that the signer is on no trust list.',
    }),
    notChecked: t.stringList({
      ...several,
      description:
        'The parts of the manifest that Annal could not check: `identity not checked`, `time stamp not checked` or `remote manifest, not fetched`. An unchecked part does not make a manifest invalid.',
      resolve: ({ notChecked }) => notChecked ?? [],
    }),
    remoteManifestUrl: t.exposeString('remoteManifestUrl', {
      ...characters(reportBounds.url),
      nullable: true,
      description:
        'The URL of the manifest that the file names. Set only when `state` is REMOTE and the URL has at most 2,000 characters.',
    }),
    manifestCount: t.exposeInt('manifestCount', {
      description: 'The number of manifests in the file: the newest one and those of its ingredients.',
    }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'The time when the manifest was checked.',
      resolve: ({ checkedAt }) => new Date(checkedAt),
    }),
  }),
})
