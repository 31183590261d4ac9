import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import { fieldErrorsOf } from '../api/errors.ts'
import { useOnce } from '../api/once.ts'
import { startSession } from '../api/session.ts'
import { Field } from '../components/field.tsx'
import { Gate } from '../components/gate.tsx'
import { Problem } from '../components/problem.tsx'
import { graphql } from '../gql/gql.ts'

export const SignIn = graphql(/* GraphQL */ `
  mutation SignIn($input: SignInInput!) {
    signIn(input: $input) {
      token
    }
  }
`)

/** What the session is called in the person's list of sessions. */
export const SESSION_NAME = 'Annal in the browser'

export function SignInPage() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [{ error, fetching }, signIn] = useOnce(SignIn)
  const wrong = fieldErrorsOf(error)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const { data } = await signIn({ input: { email, password, name: SESSION_NAME } })
    if (data) startSession(data.signIn.token)
  }

  return (
    <Gate title="Sign in">
      <form onSubmit={submit} aria-busy={fetching}>
        <Problem error={error} />
        <Field label="E-mail address" error={wrong.email}>
          <input
            type="email"
            autoComplete="email"
            required
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        </Field>
        <Field label="Password" error={wrong.password}>
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </Field>
        <button type="submit">Sign in</button>
      </form>
      <p>
        No account yet? <Link to="/sign-up">Sign up</Link>
      </p>
    </Gate>
  )
}
