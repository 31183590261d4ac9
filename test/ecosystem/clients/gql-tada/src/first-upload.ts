import { createAnnal, dataOf } from './annal.ts'
import { graphql } from './graphql.ts'

const SignUp = graphql(`
  mutation SignUp($input: SignUpInput!) {
    signUp(input: $input) { user { id username } }
  }
`)
const SignIn = graphql(`
  mutation SignIn($input: SignInInput!) {
    signIn(input: $input) { token }
  }
`)
const Quote = graphql(`
  query Quote($input: QuoteInput!) {
    quote(input: $input) { total available problems { code message } }
  }
`)
const Register = graphql(`
  mutation Register($input: RegisterAssetInput!) {
    registerAsset(input: $input) { asset { id assetFileUrl } }
  }
`)

const username = `ada-${Date.now()}`
const account = { email: `${username}@example.org`, password: 'correct horse battery' }
const nobody = createAnnal()
dataOf(await nobody.mutation(SignUp, { input: { ...account, username } }))
export const { token } = dataOf(await nobody.mutation(SignIn, { input: account })).signIn
export const annal = createAnnal({ token })

const { quote } = dataOf(await annal.query(Quote, { input: { registerAsset: {} } }))
console.log(`Costs ${quote.total} of ${quote.available}, problems: ${quote.problems.length}`)

// #region upload
// In a browser, use the file of an input: `input.files[0]`.
const file = new File([`Hello, Annal, from ${username}.`], 'hello.txt', { type: 'text/plain' })
const { registerAsset } = dataOf(await annal.mutation(Register, { input: { assetFile: file, caption: 'Hello' } }))
export const asset = registerAsset.asset
// #endregion
console.log(`Registered ${asset.id}: ${asset.assetFileUrl}`)
