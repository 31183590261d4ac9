import { createAnnal } from './annal.ts'
import { graphql } from './gql/index.ts'

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
await nobody.mutate({ mutation: SignUp, variables: { input: { ...account, username } } })
const session = await nobody.mutate({ mutation: SignIn, variables: { input: account } })
export const { token } = session.data!.signIn
const annal = createAnnal({ token })

const { data } = await annal.query({ query: Quote, variables: { input: { registerAsset: {} } } })
const quote = data!.quote
console.log(`Costs ${quote.total} of ${quote.available}, problems: ${quote.problems.length}`)

// #region upload
// In a browser, use the file of an input: `input.files[0]`.
const file = new File([`Hello, Annal, from ${username}.`], 'hello.txt', { type: 'text/plain' })
const registered = await annal.mutate({
  mutation: Register,
  variables: { input: { assetFile: file, caption: 'Hello' } },
})
export const asset = registered.data!.registerAsset.asset
// #endregion
console.log(`Registered ${asset.id}: ${asset.assetFileUrl}`)
annal.stop()
