import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { givenFlag, givenPicture, givenText, same } from '../../http/rest/values.ts'
import { meRecord, presentMe, presentProfile, profileRecord } from './present-user.ts'

const updateMe = defineRoute({
  method: 'PATCH',
  path: 'auth/users/me',
  operationId: 'updateMe',
  tag: 'Account',
  summary: 'Change settings of one’s own account',
  body: z
    .object({
      language: same('UpdateProfileInput.language', givenText(16)).optional(),
      default_tag: same('UpdateProfileInput.defaultTag', givenText(100)).optional(),
      allow_c2pa_download: same('UpdateProfileInput.allowC2paDownload', givenFlag).optional(),
    })
    .meta({ id: 'UpdateMe', description: 'Only what is given changes.' }),
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
  answer: meRecord,
  present: ({ updateProfile: { user } }) => presentMe(user),
})

const updateProfile = defineRoute({
  method: 'PATCH',
  path: 'auth/users/profile',
  operationId: 'updateProfile',
  tag: 'Account',
  summary: 'Change one’s profile and its pictures',
  body: z
    .object({
      display_name: same('UpdateProfileInput.displayName', givenText(100)).optional(),
      description: same('UpdateProfileInput.description', givenText(1000)).optional(),
      profile_picture: same('UpdateProfileInput.profilePicture', givenPicture).optional(),
      profile_background: same('UpdateProfileInput.profileBackground', givenPicture).optional(),
    })
    .meta({ id: 'ProfileToUpdate', description: 'Only what is given changes.' }),
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
  answer: profileRecord,
  present: ({ updateProfile: { user } }) => presentProfile(user),
})

const readProfile = defineRoute({
  method: 'GET',
  path: 'auth/users/profile',
  operationId: 'getProfile',
  tag: 'Account',
  summary: 'Read one’s profile',
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestProfile {
      me {
        ...ProfileRecord
      }
    }
  `),
  variables: () => ({}),
  answer: profileRecord,
  present: ({ me }) => presentProfile(me),
})

/** One's own record, and profiles. */
export const profileRoutes = [updateMe, updateProfile, readProfile]
