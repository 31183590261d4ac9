import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { presentMe, presentProfile } from './present-user.ts'

const updateMe = defineRoute({
  method: 'PATCH',
  path: 'auth/users/me',
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateMe($input: UpdateProfileInput!) {
      updateProfile(input: $input) {
        user {
          ...UserRecord
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: {
      language: body.text('language'),
      defaultTag: body.text('default_tag'),
      allowC2paDownload: body.flag('allow_c2pa_download'),
    },
  }),
  present: ({ updateProfile: { user } }) => presentMe(user),
})

const updateProfile = defineRoute({
  method: 'PATCH',
  path: 'auth/users/profile',
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateProfile($input: UpdateProfileInput!) {
      updateProfile(input: $input) {
        user {
          ...ProfileRecord
        }
      }
    }
  `),
  files: ['profile_picture', 'profile_background'],
  maxFileBytes: 10_000_000,
  variables: ({ body }) => ({
    input: {
      displayName: body.text('display_name'),
      description: body.text('description'),
      profilePicture: body.uploadOrNull('profile_picture'),
      profileBackground: body.uploadOrNull('profile_background'),
    },
  }),
  present: ({ updateProfile: { user } }) => presentProfile(user),
})

const readProfile = defineRoute({
  method: 'GET',
  path: 'auth/users/profile',
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestProfile {
      me {
        ...ProfileRecord
      }
    }
  `),
  variables: () => ({}),
  present: ({ me }) => presentProfile(me),
})

/** One's own record, and profiles. */
export const profileRoutes = [updateMe, updateProfile, readProfile]
