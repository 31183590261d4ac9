/** Initial tabs of the playground, to be run from left to right. Each document has a comment that describes it. */

/** A tab. The page replaces placeholders such as `{{token}}` with values of earlier responses: see `page.js`. */
export interface PlaygroundTab {
  query: string
  /** Variables of the operation. */
  variables?: object
  headers?: object
}

const asUser = { Authorization: 'token {{token}}' }
const asAdministrator = { Authorization: 'token {{adminToken}}' }
const throughShop = { ...asUser, 'x-api-key': '{{apiKey}}' }

const account = { email: 'ada-{{random}}@example.org', password: 'correct horse battery' }
const administrator = { email: 'root@example.org', password: 'correct horse battery' }

/** Tabs in the order in which they should be run. */
export const tabs: PlaygroundTab[] = [
  {
    query: `# 1. An account, with a wallet and points in it.
#    Run the tabs from left to right, by the
#    button or Ctrl-Enter. Variables and headers
#    stand below; change what you like.

mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    user { id username address }
  }
}
`,
    variables: { input: { username: 'ada-{{random}}', ...account } },
  },
  {
    query: `# 2. A session. The page puts its token into
#    the headers of the tabs to the right, as
#    {"Authorization": "token …"}.

mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { token }
}
`,
    variables: { input: account },
  },
  {
    query: `# 3. A file becomes an asset, paid with points.
#    Run it, and your browser asks for a file,
#    whose name then stands in the variables.
#    For another one write "file:choose" again.

mutation Register(
  $file: Upload!
  $caption: String
) {
  registerAsset(
    input: { assetFile: $file, caption: $caption }
  ) {
    asset { id headId assetFileName caption }
  }
}
`,
    variables: { file: 'file:choose', caption: 'Evening at sea' },
    headers: asUser,
  },
  {
    query: `# 4. A change of its metadata is one more
#    commit, for the same price. The page took
#    the identifier from the answer of tab 3.

mutation Update(
  $input: UpdateAssetMetadataInput!
) {
  updateAssetMetadata(input: $input) {
    asset { id caption headline }
  }
}
`,
    variables: {
      input: { id: '{{asset}}', headline: 'Sunset', commitMessage: 'Give it a headline' },
    },
    headers: asUser,
  },
  {
    query: `# 5. The history of the asset, newest first.
#    Run it again, and see commits get onto the
#    chain: PENDING, BROADCAST, INCLUDED, FINAL.

query History($id: ID!) {
  asset(id: $id) {
    id
    headline
    commits(first: 10) {
      nodes {
        message
        changes
        status
        transactionHash
        createdAt
      }
    }
  }
}
`,
    variables: { id: '{{asset}}' },
    headers: asUser,
  },
  {
    query: `# 6. The asset as the commit of tab 3 left it,
#    all its versions, and the changes since.
#    "from" also takes a time, for example
#    "2026-11-22T10:00:00Z".

query Versions(
  $id: ID!
  $commit: ID!
  $from: String!
) {
  asset(id: $id) {
    version(commitId: $commit) {
      caption
      headline
    }
    versions(limit: 10) {
      headline
      commit { message createdAt }
    }
    diff(from: $from) { changes }
  }
}
`,
    variables: {
      id: '{{asset}}',
      commit: '{{firstCommit}}',
      from: '{{firstCommit}}',
    },
    headers: asUser,
  },
  {
    query: `# 7. A revert to that version: one more commit,
#    for the price of a change. The query
#    "quote" returns that price.

mutation Revert($input: RevertAssetInput!) {
  revertAsset(input: $input) {
    asset { headline commitCount }
  }
}
`,
    variables: { input: { id: '{{asset}}', revertTo: '{{firstCommit}}' } },
    headers: asUser,
  },
  {
    query: `# 8. Administrators put on sale what users buy.
#    Make one first, in a terminal:
#
#    echo correct horse battery |
#      npm run -s annal -- admin create \\
#      --username root --email root@example.org

mutation Administrator($input: SignInInput!) {
  administrator: signIn(input: $input) { token }
}
`,
    variables: { input: administrator },
  },
  {
    query: `# 9. A paid action. Given a "webhookUrl", each
#    order would call it.

mutation CreateApp(
  $input: CreateNetworkAppInput!
) {
  createNetworkApp(input: $input) {
    networkApp { id name price }
  }
}
`,
    variables: { input: { name: 'upscale-{{random}}', price: '1.5' } },
    headers: asAdministrator,
  },
  {
    query: `# 10. A key for the shop that takes orders. The
#     page puts it into the headers of the tabs
#     to the right, as {"x-api-key": "…"}.

mutation IssueKey($input: IssueApiKeyInput!) {
  issueApiKey(input: $input) { key }
}
`,
    variables: { input: { name: 'playground' } },
    headers: asAdministrator,
  },
  {
    query: `# 11. Through the shop, the user of tab 2 orders
#     the action for the asset of tab 3. Nothing
#     is paid yet.

mutation Order($input: CreateOrderInput!) {
  createOrder(input: $input) {
    order { id status price expiresAt }
  }
}
`,
    variables: { input: { networkApp: '{{networkApp}}', actionArgs: { nid: '{{asset}}' } } },
    headers: throughShop,
  },
  {
    query: `# 12. Confirming charges the wallet: once,
#     however often it is sent.

mutation Confirm($input: ConfirmOrderInput!) {
  confirmOrder(input: $input) {
    order { id status pointsPaid numPaid paidAt }
  }
}
`,
    variables: { input: { id: '{{order}}' } },
    headers: throughShop,
  },
]
