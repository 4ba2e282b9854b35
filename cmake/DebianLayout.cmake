# Before a package is made of what was installed below /usr: settings belong into /etc.
file(RENAME ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/etc ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/etc)
