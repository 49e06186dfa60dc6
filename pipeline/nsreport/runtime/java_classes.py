"""Java classes: remembers those that Python looks up by name, again for each column function of a query.

Python looks up each package, class and method in Java each time. For a package, or a short name of a class,
Java searches all 280 files of Spark.
"""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage

_CLASS_NAMES = ("functions", "org.apache.spark.sql.functions", "PythonSQLUtils", "PythonUtils")
_PACKAGE_NAMES = ("java", "org", "scala")


class RememberedNames:
    """A Java package or class that looks up each of its packages, classes and static methods once."""

    def __init__(self, java_object: Any) -> None:
        self._java_object = java_object

    def __getattr__(self, member_name: str) -> Any:
        member = getattr(self._java_object, member_name)
        if isinstance(member, (JavaClass, JavaPackage)):
            member = RememberedNames(member)
        if isinstance(member, (JavaMember, RememberedNames)):
            setattr(self, member_name, member)
        return member

    def __call__(self, *arguments: Any) -> Any:
        return self._java_object(*arguments)


def remember_java_classes(jvm: Any) -> None:
    """Give `jvm`, PySpark's view of Java, the classes and packages that it otherwise looks up again."""
    for name in (*_CLASS_NAMES, *_PACKAGE_NAMES):
        setattr(jvm, name, RememberedNames(getattr(jvm, name)))
