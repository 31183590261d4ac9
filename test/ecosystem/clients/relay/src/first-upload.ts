import { fetchQuery, graphql } from 'relay-runtime'
import type { firstUploadQuoteQuery } from './__generated__/firstUploadQuoteQuery.graphql'
import type { firstUploadRegisterMutation } from './__generated__/firstUploadRegisterMutation.graphql'
import type { firstUploadSignInMutation } from './__generated__/firstUploadSignInMutation.graphql'
import type { firstUploadSignUpMutation } from './__generated__/firstUploadSignUpMutation.graphql'
import { commit, createAnnal } from './annal'

const SignUp = graphql`
  mutation firstUploadSignUpMutation($input: SignUpInput!) {
    signUp(input: $input) { user { id username } }
  }
`
const SignIn = graphql`
  mutation firstUploadSignInMutation($input: SignInInput!) {
    signIn(input: $input) { token }
  }
`
const Quote = graphql`
  query firstUploadQuoteQuery($input: QuoteInput!) {
    quote(input: $input) { total available problems { code message } }
  }
`
const Register = graphql`
  mutation firstUploadRegisterMutation($input: RegisterAssetInput!) {
    registerAsset(input: $input) { asset { id assetFileUrl } }
  }
`

const username = `ada-${Date.now()}`
const account = { email: `${username}@example.org`, password: 'correct horse battery' }
const nobody = createAnnal()
await commit<firstUploadSignUpMutation>(nobody, { mutation: SignUp, variables: { input: { ...account, username } } })
const session = await commit<firstUploadSignInMutation>(nobody, { mutation: SignIn, variables: { input: account } })
export const { token } = session.signIn
const annal = createAnnal({ token })

const answer = await fetchQuery<firstUploadQuoteQuery>(annal, Quote, { input: { registerAsset: {} } }).toPromise()
const quote = answer!.quote
console.log(`Costs ${quote.total} of ${quote.available}, problems: ${quote.problems.length}`)

// #region upload
// In a browser, use the file of an input: `input.files[0]`.
const file = new File([`Hello, Annal, from ${username}.`], 'hello.txt', { type: 'text/plain' })
const { registerAsset } = await commit<firstUploadRegisterMutation>(annal, {
  mutation: Register,
  variables: { input: { assetFile: null, caption: 'Hello' } },
  uploadables: { 'input.assetFile': file },
})
export const asset = registerAsset.asset
// #endregion
console.log(`Registered ${asset.id}: ${asset.assetFileUrl}`)
