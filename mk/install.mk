# SPDX-License-Identifier: ISC
#
# Installing, and the archive for a release.
