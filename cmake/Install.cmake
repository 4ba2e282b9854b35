# What is installed: the public headers, the static libraries, the programs, and the files by which
# find_package(iceblink) and pkg-config find them. Components: development, programs.
include(CMakePackageConfigHelpers)
set(ICEBLINK_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/iceblink)

# iceblink::client is the interface; the others are what a static library brings along.
set_target_properties(iceblink_api PROPERTIES EXPORT_NAME api)
set_target_properties(iceblink_client PROPERTIES EXPORT_NAME client)
set_target_properties(iceblink_flags PROPERTIES EXPORT_NAME flags)
set_target_properties(iceblink_iceberg PROPERTIES EXPORT_NAME iceberg)
set_target_properties(iceblink_shm PROPERTIES EXPORT_NAME shm)
install(TARGETS iceblink_api iceblink_client iceblink_flags iceblink_iceberg iceblink_shm
  EXPORT iceblinkTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT iceblinkTargets NAMESPACE iceblink:: DESTINATION ${ICEBLINK_CMAKE_DIR}
  COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/iceblink DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.h")

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/iceblinkConfig.cmake.in
  ${PROJECT_BINARY_DIR}/iceblinkConfig.cmake INSTALL_DESTINATION ${ICEBLINK_CMAKE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/iceblinkConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/iceblinkConfig.cmake
  ${PROJECT_BINARY_DIR}/iceblinkConfigVersion.cmake
  DESTINATION ${ICEBLINK_CMAKE_DIR} COMPONENT development)

# Relative to the file itself: the prefix is chosen at installation.
file(RELATIVE_PATH ICEBLINK_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/iceblink.pc.in ${PROJECT_BINARY_DIR}/iceblink.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/iceblink.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

install(TARGETS iceblink_cli iceblinkd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  COMPONENT programs)

# What an administrator needs. Units are found below /usr and /usr/local alike; the settings go to
# <prefix>/etc, which the Debian package turns into /etc.
set(ICEBLINK_DOC_DIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/iceblink)
install(FILES systemd/iceblinkd@.service systemd/iceblinkd@.socket DESTINATION lib/systemd/system
  COMPONENT programs)
install(FILES systemd/sysusers.conf DESTINATION lib/sysusers.d RENAME iceblink.conf
  COMPONENT programs)
install(FILES systemd/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME iceblink.conf
  COMPONENT programs)
install(FILES systemd/iceblinkd.toml DESTINATION etc/iceblink COMPONENT programs)
install(FILES packaging/man/iceblink.1 DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/man/man1
  COMPONENT programs)
install(FILES packaging/man/iceblinkd.8 DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/man/man8
  COMPONENT programs)
install(FILES packaging/iceblink.bash-completion
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME iceblink
  COMPONENT programs)
install(FILES LICENSE CHANGELOG.md README.md DESTINATION ${ICEBLINK_DOC_DIR} COMPONENT programs)
install(DIRECTORY docs/ DESTINATION ${ICEBLINK_DOC_DIR} COMPONENT programs
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES systemd/example.toml DESTINATION ${ICEBLINK_DOC_DIR}/examples COMPONENT programs)
install(DIRECTORY systemd/grafana DESTINATION ${ICEBLINK_DOC_DIR}/examples COMPONENT programs)
