import { builder } from '../../graphql/builder.ts'
import { characters } from '../../graphql/limits/document-cost.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { canAdminister, canSeePrivateParts } from '../../shared/policy.ts'
import { WalletType } from '../wallet/wallet.graphql.ts'

/** What an account may do. */
export const Role = builder.enumType('Role', {
  description: 'What an account may do beyond its own things.',
  values: {
    USER: { description: 'Nothing beyond.' },
    ADMIN: { description: 'Runs the store: network apps, API keys, grants.' },
  } as const,
})

const own = 'Only you see yours; null for others.'

/** `User`: of somebody else's, what is private is null. */
export const UserType = builder.prismaObject('User', {
  description: "A person's account. What is private is null for everybody else.",
  interfaces: [Node],
  // Read with every user; what is theirs alone is read when it is asked for.
  select: { id: true, username: true, displayName: true, description: true, assetCount: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `user_01h2x…`.', resolve: ({ id }) => toId('user', id) }),
    username: t.string({
      ...characters(21),
      description: 'At most 21 characters, unique.',
      resolve: ({ username }) => username,
    }),
    displayName: t.string({
      ...characters(100),
      description: 'The name shown to others.',
      resolve: ({ displayName }) => displayName,
    }),
    description: t.string({
      ...characters(1000),
      description: 'What the person says about themselves.',
      resolve: ({ description }) => description,
    }),
    address: t.field({
      type: 'Address',
      description: 'Address of the custodial key pair: the author of commits on the chain.',
      select: { wallet: { select: { address: true } } },
      resolve: ({ wallet }) => wallet!.address,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the account was made.',
      resolve: ({ createdAt }) => createdAt,
    }),
    lockedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Since when administrators keep the account locked; null while it is not. Administrators see it; null for others.',
      select: { lockedAt: true },
      resolve: ({ lockedAt }, _args, { actor }) => (canAdminister(actor) ? lockedAt : null),
    }),
    email: t.string({
      ...characters(254),
      nullable: true,
      description: `Address that notifications go to. ${own}`,
      select: { email: true },
      resolve: ({ id, email }, _args, { actor }) => (canSeePrivateParts(actor, id) ? email : null),
    }),
    emailVerified: t.boolean({
      nullable: true,
      description: `Whether the address is known to be theirs. ${own}`,
      select: { emailVerified: true },
      resolve: ({ id, emailVerified }, _args, { actor }) => (canSeePrivateParts(actor, id) ? emailVerified : null),
    }),
    pendingEmail: t.string({
      nullable: true,
      ...characters(254),
      description: `Address that takes the place of \`email\` once it is verified, if there is one. ${own}`,
      select: { pendingEmail: true },
      resolve: ({ id, pendingEmail }, _args, { actor }) => (canSeePrivateParts(actor, id) ? pendingEmail : null),
    }),
    role: t.field({
      type: Role,
      nullable: true,
      description: `What the account may do. ${own}`,
      select: { role: true },
      resolve: ({ id, role }, _args, { actor }) => (canSeePrivateParts(actor, id) ? role : null),
    }),
    language: t.string({
      ...characters(16),
      nullable: true,
      description: `Language of mails, as in en-us. ${own}`,
      select: { language: true },
      resolve: ({ id, language }, _args, { actor }) => (canSeePrivateParts(actor, id) ? language : null),
    }),
    defaultTag: t.string({
      ...characters(100),
      nullable: true,
      description: `Tag that clients offer for new assets. ${own}`,
      select: { defaultTag: true },
      resolve: ({ id, defaultTag }, _args, { actor }) => (canSeePrivateParts(actor, id) ? defaultTag : null),
    }),
    referralCode: t.string({
      ...characters(64),
      nullable: true,
      description: `Code the person signed up with. ${own}`,
      select: { referralCode: true },
      resolve: ({ id, referralCode }, _args, { actor }) => (canSeePrivateParts(actor, id) ? referralCode : null),
    }),
    allowC2paDownload: t.boolean({
      nullable: true,
      description: `Whether clients may offer files with content credentials. ${own}`,
      select: { allowC2paDownload: true },
      resolve: ({ id, allowC2paDownload }, _args, { actor }) =>
        canSeePrivateParts(actor, id) ? allowC2paDownload : null,
    }),
    wallet: t.field({
      type: WalletType,
      nullable: true,
      description: `Key pair and balances. ${own}`,
      select: (_args, _context, nested) => ({ wallet: nested(true) }),
      resolve: ({ id, wallet }, _args, { actor }) => (canSeePrivateParts(actor, id) ? wallet : null),
    }),
    assetCount: t.int({
      nullable: true,
      description: `How many assets they own. ${own}`,
      resolve: ({ id, assetCount }, _args, { actor }) => (canSeePrivateParts(actor, id) ? assetCount : null),
    }),
  }),
})

builder.queryField('me', (t) =>
  t.read({
    type: UserType,
    description: 'You. Raises NOT_AUTHENTICATED.',
    resolve: (query, _root, _args, { actor, services }) => services.accounts.me(actor, query),
  }),
)
