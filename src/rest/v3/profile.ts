import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { presentUser } from './present-user.ts'

const operation = graphql(/* GraphQL */ `
  mutation RestUpdateProfile($input: UpdateProfileInput!) {
    updateProfile(input: $input) {
      user {
        ...UserRecord
      }
    }
  }
`)

const updateMe = defineRoute({
  method: 'PATCH',
  path: 'auth/users/me',
  action: 'account:update',
  operation,
  variables: ({ body }) => ({
    input: {
      language: body.text('language'),
      defaultTag: body.text('default_tag'),
      allowC2paDownload: body.flag('allow_c2pa_download'),
    },
  }),
  present: ({ updateProfile: { user } }) => presentUser(user),
})

const updateProfile = defineRoute({
  method: 'PATCH',
  path: 'auth/users/profile',
  action: 'account:update',
  operation,
  variables: ({ body }) => ({
    input: { displayName: body.text('display_name'), description: body.text('description') },
  }),
  present: ({ updateProfile: { user } }) => presentUser(user),
})

export const profileRoutes = [updateMe, updateProfile]
