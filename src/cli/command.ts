import type { Command } from 'commander'

/** Subcommands share their parent's way to fail. */
export const command = (parent: Command, name: string, description: string) =>
  parent.command(name).description(description).copyInheritedSettings(parent)
