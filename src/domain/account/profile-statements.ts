import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

/** Changes what is not null. $1 user, $7 the address it came from. No row: the account is gone. */
export const changeProfile = statement<{ id: string }>(
  'account_profile_change',
  `with changed as (
     update users set display_name = coalesce($2::text, display_name), description = coalesce($3::text, description),
       language = coalesce($4::text, language), default_tag = coalesce($5::text, default_tag),
       allow_c2pa_download = coalesce($6::boolean, allow_c2pa_download)
     where id = $1::uuid and deleted_at is null returning id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: 'id', action: 'profile.changed', address: '$7' })},
   ${rememberSql('$8', '$9', 'changed.id::text', 'changed')}
   select id from changed`,
)
