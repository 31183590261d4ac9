/** What the manifest in a file claims. */
import { type ManifestReport, manifestStates, reportBounds } from '../domain/asset/manifest-report.ts'
import { builder } from './builder.ts'
import { atMost, characters } from './sizes.ts'

const State = builder.enumType('ContentCredentialsState', {
  description: 'How far the manifest in a file can be believed.',
  values: Object.fromEntries(
    Object.entries(manifestStates).map(([name, description]) => [name, { value: name, description }]),
  ) as { [Name in keyof typeof manifestStates]: { value: Name; description: string } },
})

const words = { ...characters(reportBounds.text), nullable: true } as const
const several = { ...atMost(reportBounds.items) } as const

/** The type `ContentCredentials`. */
export const ContentCredentialsType = builder.objectRef<ManifestReport>('ContentCredentials').implement({
  description:
    'What the C2PA manifest in a file claimed when the file was registered: the word of whoever signed it, and none of this service. Texts end after 255 characters, lists after 20.',
  fields: (t) => ({
    state: t.expose('state', { type: State, description: 'How far it can be believed.' }),
    trustList: t.exposeString('trustList', {
      ...words,
      description:
        'The certificates that the signer was judged by; null when there are none, and the signer was not judged.',
    }),
    signer: t.exposeString('signer', { ...words, description: 'Name in the certificate that it is signed with.' }),
    issuer: t.exposeString('issuer', { ...words, description: 'Organization in that certificate.' }),
    signedAt: t.exposeString('signedAt', { ...words, description: 'Time of its time stamp; null without one.' }),
    generator: t.exposeString('generator', { ...words, description: 'Program that made it, as it says.' }),
    title: t.exposeString('title', { ...words, description: 'What it calls the file.' }),
    creators: t.exposeStringList('creators', { ...several, description: 'Who made the file, as it says.' }),
    actions: t.exposeStringList('actions', {
      ...several,
      description: 'What was done to the file, as in `c2pa.created`.',
    }),
    digitalSourceType: t.exposeString('digitalSourceType', {
      ...words,
      description: 'How the file came about, as it says: an address in the vocabulary of IPTC.',
    }),
    mining: t.exposeStringList('mining', {
      ...several,
      description: 'What it lets programs that learn do with the file, as in `cawg.ai_training: notAllowed`.',
    }),
    problems: t.exposeStringList('problems', {
      ...several,
      description:
        'What is wrong with it, by the codes of C2PA: `signingCredential.untrusted` where nobody here knows who signed.',
    }),
    manifestCount: t.exposeInt('manifestCount', {
      description: 'Manifests in the file: this one, and those that it was made from.',
    }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'When it was judged.',
      resolve: ({ checkedAt }) => new Date(checkedAt),
    }),
  }),
})
