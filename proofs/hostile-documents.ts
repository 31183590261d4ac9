/** Documents that ask for more than anybody should. Each is new every time, so that no cache helps. */

export interface Hostile {
  name: string
  /** The body of the `i`-th of its kind. */
  body(i: number): { query: string; variables?: unknown }
}

const repeat = (count: number, each: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => each(i)).join(' ')

/** A document in which `@@` stands for a name that nobody has used before. */
const text = (name: string, query: string, variables?: unknown): Hostile => ({
  name,
  body: (i) => ({ query: query.replaceAll('@@', `n${i}`), ...(variables !== undefined && { variables }) }),
})

const assets = (inner: string) => `assets(first: 100) { nodes { ${inner} } }`
const commits = (inner: string) => `commits(first: 100) { nodes { ${inner} } }`

/** Fragments that spread the next one twice each: 2^depth in the end. */
const doubling = (depth: number, alias: (i: number) => string) =>
  `${repeat(
    depth,
    (i) => `fragment F${i} on User { ${alias(0)} { ...W${i} } ${alias(1)} { ...W${i} } }
    fragment W${i} on Wallet { ${i + 1 < depth ? 'address' : 'num'} }`,
  )}`

function deepValue(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value }
  return value
}

const page = 'query @@($first: Int) { assets(first: $first) { totalCount } }'
const signIn = 'mutation @@($input: SignInInput!) { signIn(input: $input) { token } }'

export const hostileDocuments: Hostile[] = [
  // Aliases
  text('101 aliases of __typename', `query @@ { ${repeat(101, (i) => `a${i}: __typename`)} }`),
  text('400 aliases of a query', `query @@ { ${repeat(400, (i) => `a${i}: me { id }`)} }`),
  text('30 aliases of a count', `query @@ { ${repeat(30, (i) => `a${i}: assets { totalCount }`)} }`),
  text('15 aliases of a count', `query @@ { ${repeat(15, (i) => `a${i}: assets { totalCount }`)} }`),
  text('aliases inside', `query @@ { me { ${repeat(300, (i) => `a${i}: wallet { num }`)} } }`),
  text('aliases of pages', `query @@ { me { ${repeat(25, (i) => `a${i}: assets(first: 100) { nodes { id } }`)} } }`),
  text(
    '100 sign-ins at once',
    `mutation @@ { ${repeat(100, (i) => `a${i}: signIn(input: { email: "a@b.example", password: "x${i}" }) { token }`)} }`,
  ),
  text('two mutations', 'mutation @@ { a: signOut b: signOut }'),
  text('two mutations, one in a fragment', 'mutation @@ { signOut ...B } fragment B on Mutation { b: signOut }'),
  // Repetition
  text('500 times the same field', `query @@ { ${'__typename '.repeat(500)} }`),
  text('300 times the same object', `query @@ { ${'me { id } '.repeat(300)} }`),
  text('200 inline fragments', `query @@ { ${'... on Query { __typename } '.repeat(200)} }`),
  text('inline fragments inside each other', `query @@ { ${'... { '.repeat(300)} __typename ${'} '.repeat(300)} }`),
  text(
    'fields that differ in arguments only',
    `query @@ { ${repeat(150, (i) => `... { assets(first: ${i}) { totalCount } }`)} }`,
  ),
  // Fragments
  text('a fragment of itself', 'query @@ { me { ...A } } fragment A on User { id ...A }'),
  text(
    'two fragments of each other',
    'query @@ { me { ...A } } fragment A on User { ...B } fragment B on User { ...A }',
  ),
  text(
    'a circle of 40 fragments',
    `query @@ { me { ...F0 } } ${repeat(40, (i) => `fragment F${i} on User { id ...F${(i + 1) % 40} }`)}`,
  ),
  text('fragments that double', `query @@ { me { ...F0 } } ${doubling(20, (i) => `x${i}: wallet`)}`),
  text(
    'fragments that double, through aliases',
    `query @@ { ...F0 } ${repeat(
      25,
      (i) => `fragment F${i} on Query { a${i}: node(id: "x") { ... on Asset { ...G${i} } }
      ${i < 24 ? `...F${i + 1} ...F${i + 1}` : ''} } fragment G${i} on Asset { id }`,
    )}`,
  ),
  text('1,000 fragments', `query @@ { ...F0 } ${repeat(230, (i) => `fragment F${i} on Query { __typename }`)}`),
  text(
    'fragments nobody spreads',
    `query @@ { __typename } ${repeat(45, (i) => `fragment F${i} on User { id username }`)}`,
  ),
  text(
    'fragments that overlap',
    `query @@ { ${repeat(45, (i) => `...F${i}`)} } ${repeat(45, (i) => `fragment F${i} on Query { me { id username } }`)}`,
  ),
  text('fragments of nothing', `query @@ { ${repeat(300, (i) => `...F${i}`)} }`),
  // Depth
  text(
    'deep: assets of owners of assets',
    `query @@ { me { ${'assets { nodes { owner { '.repeat(30)} id ${'} } } '.repeat(30)} } }`,
  ),
  text('deep to the end of the tokens', `query @@ ${'{ a '.repeat(700)} ${'} '.repeat(700)}`),
  text('brackets only', `query @@ ${'{'.repeat(8_000)}`),
  text('a list in a list in a list', `query @@ { assets(first: ${'['.repeat(700)}${']'.repeat(700)}) { totalCount } }`),
  text('an object in an object', `query @@ { asset(id: ${'{a: '.repeat(300)}1${'}'.repeat(300)}) { id } }`),
  text('a type of lists of lists', `query @@($a: ${'['.repeat(700)}Int${']'.repeat(700)}) { __typename }`),
  // Directives
  text('10 directives', `query @@ { __typename ${'@aa'.repeat(10)} }`),
  text('400 directives', `query @@ { __typename ${'@include(if: true) '.repeat(200)} }`),
  text('directives everywhere', `query @@ { ${repeat(200, (i) => `f${i}: __typename @skip(if: false)`)} }`),
  text('directives on the operation', `query @@ ${'@a '.repeat(500)} { __typename }`),
  // Size
  text('1,500 tokens', `query @@ { ${repeat(1_400, (i) => `f${i}`)} }`),
  text('a long comment', `query @@ { __typename } #${'x'.repeat(16_000)}`),
  text('a document of 900 kB', `query @@ { __typename } ${' '.repeat(900_000)}`),
  text('a string of 16 kB', `query @@ { asset(id: "${'\\u0041'.repeat(2_600)}") { id } }`),
  text('a name of 16 kB', `query @@ { ${'x'.repeat(16_000)} }`),
  text('commas only', `query @@ { __typename ${','.repeat(16_000)} }`),
  text('300 unknown fields', `query @@ { me { wallet { ${repeat(300, (i) => `addres${i}`)} } } }`),
  text('300 unknown arguments', `query @@ { assets(${repeat(300, (i) => `firs${i}: 1`)}) { totalCount } }`),
  text('300 variables', `query @@(${repeat(200, (i) => `$v${i}: Int`)}) { __typename }`),
  text('300 operations', `query @@ { __typename } ${repeat(300, (i) => `query q${i} { __typename }`)}`),
  // Answers
  text('100 assets with 100 commits', `query @@ { me { ${assets(commits('id message createdAt'))} } }`),
  text('the same by a variable', `query @@($n: Int) { me { ${assets('commits(first: $n) { nodes { id } }')} } }`, {
    n: 100,
  }),
  text('a page of a billion', `query @@($n: Int) { assets(first: $n) { nodes { ${commits('id')} } } }`, {
    n: 1_000_000_000,
  }),
  text('counts of 100', `query @@ { me { ${assets(`commits { totalCount } owner { assets { totalCount } }`)} } }`),
  text(
    'as much as is let in',
    `query @@ { me { ${assets('commits(first: 10) { nodes { id message createdAt } }')} } }`,
  ),
  // Schema
  text('the whole schema', 'query @@ { __schema { types { name fields { name type { name } } } } }'),
  text(
    'the schema in circles',
    `query @@ { __schema { types { ${'fields { type { '.repeat(6)} name ${'} }'.repeat(6)} } } }`,
  ),
  // Variables
  text('variables nested 5,000 deep', page, { first: deepValue(2_000) }),
  text('a list of 100,000 numbers', page, { first: Array(100_000).fill(1) }),
  text('an object of 20,000 names', signIn, {
    input: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`emai${i}`, ''])),
  }),
  text('an object of 5,000 names', signIn, {
    input: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`emai${i}`, ''])),
  }),
  text('a long text beside 40 unknown names', signIn, {
    input: { email: 'x'.repeat(900_000), ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`n${i}`, 1])) },
  }),
  text('a long text that lacks its neighbour', signIn, { input: { email: 'x'.repeat(900_000) } }),
  text('a number of 900,000 digits', page, { first: '9'.repeat(900_000) }),
  text('names of the prototype', signIn, JSON.parse('{"input":{"__proto__":{"a":1},"constructor":1,"toString":2}}')),
  text('a body over the limit', page, { first: 'x'.repeat(1_000_001) }),
]
