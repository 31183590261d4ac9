import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import { fieldErrorsOf } from '../api/errors.ts'
import { useOnce } from '../api/once.ts'
import { startSession } from '../api/session.ts'
import { Field } from '../components/field.tsx'
import { Gate } from '../components/gate.tsx'
import { Problem } from '../components/problem.tsx'
import { graphql } from '../gql/gql.ts'
import { SESSION_NAME, SignIn } from './sign-in.tsx'

const SignUp = graphql(/* GraphQL */ `
  mutation SignUp($input: SignUpInput!) {
    signUp(input: $input) {
      user {
        id
      }
    }
  }
`)

export function SignUpPage() {
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [signedUp, signUp] = useOnce(SignUp)
  const [signedIn, signIn] = useOnce(SignIn)
  const wrong = fieldErrorsOf(signedUp.error)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const { error } = await signUp({ input: { username, email, password } })
    if (error) return
    const { data } = await signIn({ input: { email, password, name: SESSION_NAME } })
    if (data) startSession(data.signIn.token)
  }

  return (
    <Gate title="Sign up">
      <form onSubmit={submit} aria-busy={signedUp.fetching || signedIn.fetching}>
        <Problem error={signedUp.error ?? signedIn.error} />
        <Field label="Username" hint="At most 21 characters. Others see it." error={wrong.username}>
          <input
            autoComplete="username"
            required
            maxLength={21}
            value={username}
            onChange={({ target }) => setUsername(target.value)}
          />
        </Field>
        <Field label="E-mail address" error={wrong.email}>
          <input
            type="email"
            autoComplete="email"
            required
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        </Field>
        <Field label="Password" hint="8 to 32 characters." error={wrong.password}>
          <input
            type="password"
            autoComplete="new-password"
            required
            minLength={8}
            maxLength={32}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </Field>
        <button type="submit">Sign up</button>
      </form>
      <p>
        You have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </Gate>
  )
}
